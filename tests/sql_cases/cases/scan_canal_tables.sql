-- modes: streaming
CREATE TABLE of_table (id INT, name STRING, weight DOUBLE) WITH ('connector' = 'filesystem', 'path' = '${data}/canal_tables.json', 'format' = 'canal-json', 'canal-json.table.include' = 'prod.*');
SELECT * FROM of_table;
CREATE TABLE of_database (id INT, name STRING, weight DOUBLE) WITH ('connector' = 'filesystem', 'path' = '${data}/canal_tables.json', 'format' = 'canal-json', 'canal-json.database.include' = 'inv');
SELECT * FROM of_database;
CREATE TABLE of_both (id INT, name STRING, weight DOUBLE) WITH ('connector' = 'filesystem', 'path' = '${data}/canal_tables.json', 'format' = 'canal-json', 'canal-json.database.include' = 'inventory', 'canal-json.table.include' = 'products|customers');
SELECT * FROM of_both;
