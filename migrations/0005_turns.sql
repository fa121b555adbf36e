-- Every turn once, with what lists are narrowed down by.
CREATE TABLE `turns` (
	`seq` integer PRIMARY KEY NOT NULL,
	`turn_id` text NOT NULL,
	`agent` text NOT NULL,
	`user` text NOT NULL,
	`version` integer,
	`reward` integer,
	`parts` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `turns_turn_id` ON `turns` (`turn_id`);--> statement-breakpoint
CREATE INDEX `turns_agent_seq` ON `turns` (`agent`,`seq`);--> statement-breakpoint
CREATE INDEX `turns_agent_version_seq` ON `turns` (`agent`,`version`,`seq`,`reward`);--> statement-breakpoint
CREATE INDEX `turns_agent_reward_seq` ON `turns` (`agent`,`reward`,`seq`,`version`);--> statement-breakpoint
CREATE INDEX `turns_agent_user_seq` ON `turns` (`agent`,`user`,`seq`,`reward`,`version`);