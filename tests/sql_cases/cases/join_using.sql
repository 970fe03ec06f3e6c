-- uses: orders, payments
SELECT id, o.item, p.currency FROM orders AS o JOIN payments AS p USING (id);
