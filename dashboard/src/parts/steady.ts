// Nothing moves under the reader's hand: rows keep their places while they are looked at again.
import { useRef } from "preact/hooks";
import { refresh } from "../live";

export interface Steady<Row> {
  rows: { row: Row; gone: boolean }[];
  /** So many have come meanwhile; they are shown when the reader wants it. */
  more: number;
  show: () => void;
}

interface Kept<Row> {
  page: string;
  turn: number;
  from: Row[] | null; // the answer that `rows` was made of
  rows: { row: Row; gone: boolean }[];
  more: number;
  looks: number;
}

/**
 * `rows` is the latest answer, null while there is none. A row that has left is there, struck through, until
 * the next answer; one that has come waits. What the reader does himself (another page, an act, a look by
 * hand) shows everything.
 */
export function useSteady<Row>(rows: Row[] | null, looks: number, key: (row: Row) => string, page: string, redraw: () => void): Steady<Row> {
  const kept = useRef<Kept<Row>>({ page, turn: refresh.value, from: null, rows: [], more: 0, looks });
  const now = kept.current;
  const all = (of: Row[]) => of.map((row) => ({ row, gone: false }));
  if (rows !== null && (rows !== now.from || looks !== now.looks)) {
    const anew = now.from === null || now.page !== page || now.turn !== refresh.value || now.rows.length === 0;
    const latest = new Map(rows.map((row) => [key(row), row]));
    const known = new Set(now.rows.map(({ row }) => key(row)));
    const steady = now.rows.filter(({ row, gone }) => latest.has(key(row)) || !gone).map(({ row }) => ({ row: latest.get(key(row)) ?? row, gone: !latest.has(key(row)) }));
    kept.current = {
      page,
      turn: refresh.value,
      from: rows,
      looks,
      rows: anew ? all(rows) : steady,
      more: anew ? 0 : rows.filter((row) => !known.has(key(row))).length,
    };
  } else if (rows === null) {
    kept.current = { page, turn: refresh.value, from: null, rows: [], more: 0, looks };
  }
  return {
    rows: kept.current.rows,
    more: kept.current.more,
    show: () => {
      kept.current = { ...kept.current, rows: all(kept.current.from ?? []), more: 0 };
      redraw();
    },
  };
}
