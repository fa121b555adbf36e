/** What workerd loads: the app and the Durable Object classes. */
import { createApp } from "./app.ts";

export { AgentObject } from "./agent/agent.ts";
export { DirectoryObject } from "./directory/directory.ts";
export { LimiterObject } from "./limiter/limiter.ts";
export { SessionObject } from "./session/session.ts";

export default createApp();
