-- uses: orders
SELECT id FROM orders WHERE (who, item) = ('ann', 'plum');
SELECT id FROM orders WHERE (who, item) IN (('ann', 'apple'), ('bob', 'pear'));
