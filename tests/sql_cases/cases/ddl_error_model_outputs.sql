CREATE MODEL m INPUT (a STRING) WITH ('provider' = 'x');
