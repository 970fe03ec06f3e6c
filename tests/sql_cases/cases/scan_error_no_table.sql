SELECT * FROM nothing;
