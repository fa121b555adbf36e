CREATE TABLE `agent_deletions` (
	`agent` text PRIMARY KEY NOT NULL,
	`requested_at` integer NOT NULL,
	`actor` text NOT NULL,
	`finished_at` integer,
	`remade_at` integer
);
