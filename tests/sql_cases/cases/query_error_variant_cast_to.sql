-- modes: batch
SELECT CAST('1' AS VARIANT);
