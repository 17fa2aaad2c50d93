// Messages: topics, what failed, and one message.
import type { Row } from "../../parts/row";
import { DeadLetters } from "./letters";
import { MessagePage } from "./message";
import { TopicPage, Topics } from "./topics";

const kMine = { part: "messages", scope: "messages:read", group: "Work" } as const;

export const rows: Row[] = [
  { path: "/topics", kind: "topic", title: "Topics", ...kMine, key: "t", page: Topics, one: TopicPage },
  { path: "/dead-letters", title: "Dead letters", ...kMine, key: "d", page: DeadLetters },
];
export const others: Row[] = [{ path: "/messages", kind: "message", title: "Message", ...kMine, one: MessagePage }];
