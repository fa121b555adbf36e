/** What names an agent. Apart from the schemas, so that the dashboard has it without them. */
export const AGENT_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;
