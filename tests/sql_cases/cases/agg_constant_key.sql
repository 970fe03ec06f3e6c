-- uses: orders
SELECT 'all', COUNT(*) FROM orders GROUP BY 'all';
