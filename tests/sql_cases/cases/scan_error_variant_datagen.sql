-- modes: batch
CREATE TABLE generated (v VARIANT) WITH ('connector' = 'datagen', 'number-of-rows' = '2');
SELECT * FROM generated;
