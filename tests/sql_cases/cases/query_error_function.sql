-- uses: orders
SELECT NO_SUCH_FUNCTION(id) FROM orders;
