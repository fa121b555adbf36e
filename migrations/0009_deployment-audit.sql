CREATE TABLE `deployment_audit` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`move` text NOT NULL,
	`actor` text NOT NULL,
	`subject` text NOT NULL,
	`detail` text NOT NULL,
	`agents` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `keys` ADD `created_by` text;--> statement-breakpoint
CREATE INDEX `keys_created_by` ON `keys` (`created_by`);