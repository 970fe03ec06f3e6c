-- uses: orders
CREATE MODEL m INPUT (a STRING) OUTPUT (b STRING) WITH ('provider' = 'x');
SELECT * FROM ML_PREDICT(TABLE orders, MODEL m, DESCRIPTOR(item, amount));
