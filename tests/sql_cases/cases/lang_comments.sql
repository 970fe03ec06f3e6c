-- uses: orders
SELECT id, -- a comment at the end of a line; with a semicolon
  /* one over
     two lines */ who /* and -- one in the middle */
FROM orders WHERE item <> '--no comment' AND id < 4;
