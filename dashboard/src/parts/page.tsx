// What every page of one thing is made of: a title, what it is, and what can be done with it.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Live } from "../live";
import { Trouble } from "./bits";

/** What a heading says, without the buttons in it. */
const textOf = (head: HTMLElement) => [...head.childNodes].map((node) => (node instanceof HTMLElement ? (node.title || node.textContent) : node.textContent)).join("");

export function Page({ title, children, acts }: { title: ComponentChildren; children: ComponentChildren; acts?: ComponentChildren }) {
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => void (document.title = `${(head.current?.firstChild ? textOf(head.current) : "")} · Tenure`));
  return (
    <>
      <header class="title">
        <h1 ref={head}>{title}</h1>
        {acts && <div class="acts">{acts}</div>}
      </header>
      {children}
    </>
  );
}

/** Shows `live` as `draw` draws it, what is missing as such. */
export function Shown<T>({ live, draw }: { live: Live<T>; draw: (data: T) => ComponentChildren }) {
  if (live.problem && !live.problem.isAway && (live.problem.status === 404 || live.data === null))
    return <Trouble problem={live.problem} again={live.again} />;
  if (live.data === null) return <p class="skeleton" aria-busy="true">Looking…</p>;
  return <>{draw(live.data)}</>;
}
