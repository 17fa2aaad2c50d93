// One message; timers and dead letters are messages, too.
import { Fields, Id, Value } from "../../parts/bits";
import { Page, Shown } from "../../parts/page";
import { Payload } from "../../parts/payload";
import { Time } from "../../parts/time";
import { Why } from "../../parts/why";
import { enc } from "../../parts/words";
import { useLive } from "../../live";
import { href } from "../../location";

export function MessagePage({ id }: { id: string }) {
  const live = useLive<"/api/v1/messages/{id}">(`/api/v1/messages/${enc(id)}`, 0.4);
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
              ["Due", message.due_at && <Time at={message.due_at} />],
              ["Owner", message.owner && <Value value={message.owner} />],
              ["Claimed", message.claimed_at && <Time at={message.claimed_at} />],
              ["Until", message.lease_expires_at && <Time at={message.lease_expires_at} />],
              ["Died", message.died_at && <Time at={message.died_at} />],
              ["Finished", message.finished_at && <Time at={message.finished_at} />],
              ["Attempts", message.attempts],
              ["Crashes", message.crashes],
              ["Fence", message.fence],
              ["Last error", message.last_error && <Value value={message.last_error} />],
              ["Correlation", message.correlation_id && <Value value={message.correlation_id} />],
              ["Headers", message.headers && <Value value={message.headers} />],
            ]}
          />
          <Payload value={message.payload ?? message.payload_base64} />
        </Page>
      )}
    />
  );
}
