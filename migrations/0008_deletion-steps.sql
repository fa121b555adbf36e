ALTER TABLE `deletions` ADD `actor` text;--> statement-breakpoint
ALTER TABLE `deletions` ADD `finished_at` integer;--> statement-breakpoint
UPDATE `deletions` SET `finished_at` = `requested_at`;