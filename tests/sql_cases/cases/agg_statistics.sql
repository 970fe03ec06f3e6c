-- uses: orders
SELECT item, STDDEV_POP(amount), VAR_SAMP(amount) FROM orders GROUP BY item;
