-- uses: orders
COMPILE PLAN '${out}/p.json' FOR SELECT id FROM orders;
