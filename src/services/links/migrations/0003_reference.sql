-- The bijection's key is the same on every node because it is a reference row, copied to each.
ALTER TABLE links.bijection ADD COLUMN version bigint NOT NULL DEFAULT 0;

SELECT tenon.make_reference('links.bijection');
