-- uses: orders
SELECT * FROM ML_PREDICT(TABLE orders, MODEL m, DESCRIPTOR(item));
