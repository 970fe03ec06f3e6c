-- uses: orders
SELECT `o`.`who` AS `the who`, `o`.`amount` + 1 AS `select`, `o`.`item` AS `a``b` FROM `orders` AS `o` WHERE `o`.`id` < 4;
SELECT `the who` FROM (SELECT who AS `the who` FROM orders WHERE id = 2) AS `from`;
