ALTER TABLE `events` ADD `key_id` text;--> statement-breakpoint
CREATE INDEX `events_agent_user` ON `events` (`agent`,`user`);