// Who reads the page, and what is not shown to them.
import { Fields, Id, Value } from "../../parts/bits";
import { Page } from "../../parts/page";
import type { Row } from "../../parts/row";
import { Time } from "../../parts/time";
import { may, me } from "../../session";

function Account() {
  const asker = me.value;
  if (!asker) return null;
  const missing = kPages.filter((row) => asker.parts.includes(row.part ?? "") && row.scope && !may(row.scope));
  return (
    <Page title="Account">
      <Fields
        rows={[
          ["Person", asker.person && <Value value={asker.person} />],
          ["Tenant", asker.tenant],
          ["Token ends", asker.expires_at && <Time at={asker.expires_at} />],
          ["May", asker.scopes.join(", ")],
          ["Server", <Id id={asker.instance} />],
        ]}
      />
      {missing.length > 0 && (
        <>
          <h2>Not shown</h2>
          <ul>
            {missing.map((row) => (
              <li key={row.path}>{row.title}: the token lacks the scope {row.scope}</li>
            ))}
          </ul>
        </>
      )}
    </Page>
  );
}

let kPages: Row[] = [];
/** Which pages there are: what the token may not read of them is said here. */
export const knowPages = (pages: Row[]) => void (kPages = pages);

export const others: Row[] = [{ path: "/account", title: "Account", part: null, scope: null, group: "", page: Account }];
