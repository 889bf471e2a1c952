/** What our modules use of htmx, for editors and type checkers. */

interface HtmxContext {
  sourceElement: Element;
  target?: Element;
  text?: string;
  request: { method: string; headers: Record<string, string> };
  response: { status: number };
}

interface Window {
  htmx: {
    process(root: Element): void;
    swap(context: { text: string; target: Element; swap: string; sourceElement: Element }): Promise<void>;
  };
}

interface DocumentEventMap {
  "htmx:config:request": CustomEvent<{ ctx: HtmxContext }>;
  "htmx:after:request": CustomEvent<{ ctx: HtmxContext }>;
  "htmx:error": CustomEvent<{ ctx?: HtmxContext }>;
}
