EXECUTE PLAN '${out}/nowhere.json';
