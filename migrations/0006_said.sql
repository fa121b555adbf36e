-- What was said in and after each turn. A row's number is the turn's seq × 4096 + its part, so that newer turns have higher ones.
CREATE VIRTUAL TABLE `said` USING fts5(`facets`, `words`, tokenize = 'unicode61 remove_diacritics 2', prefix = '3 4');
--> statement-breakpoint
-- What is deleted leaves the index at once, not with its next merge.
INSERT INTO `said` (`said`, `rank`) VALUES ('secure-delete', 1);
--> statement-breakpoint
INSERT OR IGNORE INTO `turns` (`seq`, `turn_id`, `agent`, `user`, `version`, `reward`, `parts`)
SELECT seq, turn_id, agent, user, payload ->> '$.policyVersion', (
	SELECT judged.payload ->> '$.reward' FROM `events` AS judged
	WHERE judged.event_id > turn.turn_id || '/' AND judged.event_id < turn.turn_id || '0' AND judged.kind = 'judgement:made'
	ORDER BY judged.payload ->> '$.reward' <> 0 DESC, judged.seq DESC LIMIT 1), 1
FROM `events` AS turn WHERE kind IN ('turn:finished', 'turn:aborted');
--> statement-breakpoint
INSERT INTO `said` (rowid, `facets`, `words`)
SELECT turn.seq * 4096 + row_number() OVER (PARTITION BY turn.seq ORDER BY event.seq) - 1,
	'a' || replace(agent, '-', char(57344)) || ' v' || coalesce(version, '') || ' u' || replace(user, '_', char(57344)),
	coalesce(substr(payload ->> '$.messages[#-1].content', 1, 8000) || char(10), '')
		|| coalesce(substr(payload ->> '$.answer.content', 1, 8000) || char(10), '')
		|| coalesce(substr(payload ->> '$.answer.tool_calls', 1, 8000) || char(10), '')
		|| coalesce(payload ->> '$.correction' || char(10), '') || coalesce(payload ->> '$.comment' || char(10), '') || coalesce(payload ->> '$.hint', '')
FROM `turns` AS turn JOIN (SELECT seq, event_id, payload FROM `events` WHERE kind IN ('turn:finished', 'turn:aborted', 'nextState:arrived', 'feedback:given', 'judgement:made')) AS event
ON event.event_id > turn.turn_id || '/' AND event.event_id < turn.turn_id || '0';
--> statement-breakpoint
UPDATE `turns` SET `parts` = max(1, (SELECT count(*) FROM `said` WHERE said.rowid >= turns.seq * 4096 AND said.rowid < (turns.seq + 1) * 4096));
