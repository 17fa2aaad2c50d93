// What the reader chose, kept in this browser.
import { effect, signal } from "@preact/signals";

function kept<T extends string | number>(key: string, first: T, known: readonly T[]) {
  const text = localStorage.getItem("tenure-" + key);
  const value = known.find((each) => String(each) === text);
  const choice = signal<T>(value ?? first);
  effect(() => localStorage.setItem("tenure-" + key, String(choice.value)));
  return choice;
}

/** How often a list is looked at again, in seconds; 0: never, also not when the page is come back to. */
export const kIntervals = [2, 5, 15, 60, 0] as const;
export const interval = kept<number>("interval", 5, kIntervals);
/** Besides the reader's own and UTC, by the names that the browser knows. */
export const kZones: readonly string[] = Intl.supportedValuesOf("timeZone").filter((name) => name !== "UTC");
export const zone = kept<string>("zone", "local", ["local", "utc", ...kZones]);
/** Whether single keys do something. */
export const keys = kept<string>("keys", "on", ["on", "off"]);
export const theme = kept<string>("theme", "system", ["system", "light", "dark"]);

effect(() => {
  if (theme.value === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme.value;
});
