SELECT 'a' 'b';
