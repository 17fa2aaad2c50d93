// What a capability brings to the page: a row for each of its pages.
import type { ComponentType } from "preact";

export interface Row {
  path: string;
  title: string;
  part: string | null; // the capability that has to be there
  scope: string | null; // what its calls need
  group: "" | "Hold" | "Work" | "Watch";
  kind?: string; // as the search calls what `path/{id}` shows
  key?: string; // "g" and this one lead there
  page?: ComponentType;
  one?: ComponentType<{ id: string }>; // of `path/{id}`
  two?: ComponentType<{ of: string; id: string }>; // of `path/{of}/{id}`
}
