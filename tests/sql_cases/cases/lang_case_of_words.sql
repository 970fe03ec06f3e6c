-- uses: orders
select ID + 1 from (sElEcT id AS ID, who From orders where id In (1, 3)) As t;
