CREATE TABLE `agents` (
	`name` text PRIMARY KEY NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `events` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`event_id` text NOT NULL,
	`agent` text NOT NULL,
	`line` text NOT NULL,
	`session_id` text NOT NULL,
	`turn_id` text NOT NULL,
	`user` text NOT NULL,
	`kind` text NOT NULL,
	`payload` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `events_event_id` ON `events` (`event_id`);--> statement-breakpoint
CREATE INDEX `events_agent_seq` ON `events` (`agent`,`seq`);--> statement-breakpoint
CREATE TABLE `keys` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`hash` text NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`revoked_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `keys_hash` ON `keys` (`hash`);--> statement-breakpoint
CREATE TABLE `session_counters` (
	`session_id` text PRIMARY KEY NOT NULL,
	`agent` text NOT NULL,
	`generations` integer NOT NULL,
	`replays` integer NOT NULL,
	`aborted` integer NOT NULL,
	`ambiguous` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `session_counters_agent` ON `session_counters` (`agent`);