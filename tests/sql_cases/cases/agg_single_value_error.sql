-- uses: orders
SELECT SINGLE_VALUE(who) FROM orders;
