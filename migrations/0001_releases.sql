CREATE TABLE `deletions` (
	`user` text PRIMARY KEY NOT NULL,
	`requested_at` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `events` ADD `key_id` text;--> statement-breakpoint
CREATE INDEX `events_agent_user` ON `events` (`agent`,`user`);--> statement-breakpoint
ALTER TABLE `keys` ADD `agents` text;--> statement-breakpoint
ALTER TABLE `keys` ADD `expires_at` integer;--> statement-breakpoint
ALTER TABLE `keys` ADD `requests_per_minute` integer;--> statement-breakpoint
ALTER TABLE `keys` ADD `rotated_at` integer;