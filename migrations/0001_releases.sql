CREATE TABLE `deletions` (
	`agent` text NOT NULL,
	`user` text NOT NULL,
	`requested_at` integer NOT NULL,
	PRIMARY KEY(`agent`, `user`)
);
--> statement-breakpoint
ALTER TABLE `events` ADD `key_id` text;--> statement-breakpoint
CREATE INDEX `events_user_agent` ON `events` (`user`,`agent`);--> statement-breakpoint
ALTER TABLE `keys` ADD `agents` text;--> statement-breakpoint
ALTER TABLE `keys` ADD `expires_at` integer;--> statement-breakpoint
ALTER TABLE `keys` ADD `requests_per_minute` integer;--> statement-breakpoint
ALTER TABLE `keys` ADD `rotated_at` integer;