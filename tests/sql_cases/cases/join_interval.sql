-- uses: orders, payments
SELECT o.id, p.id FROM orders o, payments p WHERE o.ts BETWEEN p.ts - INTERVAL '5' SECOND AND p.ts + INTERVAL '5' SECOND AND o.id = p.id;
