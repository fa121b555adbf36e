CREATE TABLE `series` (
	`agent` text NOT NULL,
	`hour` integer NOT NULL,
	`turns` integer NOT NULL,
	`aborted` integer NOT NULL,
	`judged` integer NOT NULL,
	`reward` integer NOT NULL,
	`corrections` integer NOT NULL,
	PRIMARY KEY(`agent`, `hour`)
);
--> statement-breakpoint
DROP INDEX `events_agent_time`;
--> statement-breakpoint
CREATE TRIGGER `events_series` AFTER INSERT ON `events`
WHEN NEW.kind IN ('turn:finished', 'turn:aborted', 'judgement:made')
BEGIN
	INSERT INTO `series` (`agent`, `hour`, `turns`, `aborted`, `judged`, `reward`, `corrections`)
	SELECT NEW.agent, NEW.created_at / 3600000, NEW.kind = 'turn:finished', NEW.kind = 'turn:aborted', says, says * reward, says * (reward < 0 AND hint IS NOT NULL)
	FROM (SELECT reward, hint, coalesce(judge <> 'verifiable' OR reward <> 0, 0) AS says
		FROM (SELECT coalesce(NEW.payload ->> '$.reward', 0) AS reward, NEW.payload ->> '$.hint' AS hint, NEW.payload ->> '$.judge' AS judge))
	WHERE true
	ON CONFLICT (`agent`, `hour`) DO UPDATE SET
		`turns` = `turns` + excluded.`turns`, `aborted` = `aborted` + excluded.`aborted`, `judged` = `judged` + excluded.`judged`,
		`reward` = `reward` + excluded.`reward`, `corrections` = `corrections` + excluded.`corrections`;
END;
--> statement-breakpoint
INSERT INTO `series` (`agent`, `hour`, `turns`, `aborted`, `judged`, `reward`, `corrections`)
SELECT agent, created_at / 3600000, sum(kind = 'turn:finished'), sum(kind = 'turn:aborted'), sum(says), sum(says * reward), sum(says * (reward < 0 AND hint IS NOT NULL))
FROM (SELECT *, coalesce(judge <> 'verifiable' OR reward <> 0, 0) AS says
	FROM (SELECT agent, created_at, kind, coalesce(payload ->> '$.reward', 0) AS reward, payload ->> '$.hint' AS hint, payload ->> '$.judge' AS judge
		FROM `events` WHERE kind IN ('turn:finished', 'turn:aborted', 'judgement:made')))
GROUP BY agent, created_at / 3600000;
