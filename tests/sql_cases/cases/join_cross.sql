-- uses: customers, payments
-- modes: batch
SELECT c.name, p.id FROM customers c CROSS JOIN payments p WHERE p.id < 3;
