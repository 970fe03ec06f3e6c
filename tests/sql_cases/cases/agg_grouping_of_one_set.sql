-- uses: orders
SELECT item, GROUPING(item), GROUPING_ID(item, who), GROUP_ID(), COUNT(*) FROM orders GROUP BY item, who;
SELECT COUNT(*), GROUP_ID() FROM orders;
