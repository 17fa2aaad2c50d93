// One message; timers and dead letters are messages, too.
import { Fields, Id, Value } from "../../parts/bits";
import { Page, Shown } from "../../parts/page";
import { Payload } from "../../parts/payload";
import { Time } from "../../parts/time";
import { Why } from "../../parts/why";
import { enc } from "../../parts/words";
import { useLive } from "../../live";
import { href } from "../../location";

interface Message {
  id: string;
  state: string;
  why: string;
  topic: string;
  priority: number;
  payload?: unknown;
  payload_base64?: string;
  fence: number;
  attempts: number;
  crashes: number;
  enqueued_at: string;
  due_at: string | null;
  owner: string | null;
  claimed_at: string | null;
  lease_expires_at: string | null;
  died_at: string | null;
  finished_at: string | null;
  last_error: string | null;
  correlation_id: string | null;
  headers: unknown;
}

export function MessagePage({ id }: { id: string }) {
  const live = useLive<Message>(`/api/v1/messages/${enc(id)}`, 0.4);
  return (
    <Shown
      live={live}
      draw={(message) => (
        <Page title={<>Message <Id id={message.id} /></>}>
          <Why kind="message" id={message.id} name={message.id.slice(0, 8)} />
          <Fields
            rows={[
              ["Topic", <a href={href(`/topics/${enc(message.topic)}`)}>{message.topic}</a>],
              ["Enqueued", <Time at={message.enqueued_at} />],
              ["Due", <Time at={message.due_at} />],
              ["Owner", <Value value={message.owner} />],
              ["Claimed", <Time at={message.claimed_at} />],
              ["Until", <Time at={message.lease_expires_at} />],
              ["Died", <Time at={message.died_at} />],
              ["Finished", <Time at={message.finished_at} />],
              ["Attempts", message.attempts],
              ["Crashes", message.crashes],
              ["Fence", message.fence],
              ["Last error", <Value value={message.last_error} />],
              ["Correlation", <Value value={message.correlation_id} />],
              ["Headers", <Value value={message.headers} />],
            ]}
          />
          <Payload value={message.payload ?? message.payload_base64} />
        </Page>
      )}
    />
  );
}
