/** Scripts that are brought when they are needed. */

const waiting = new Map<string, Promise<void>>();

/** Brings a script into the page, once. From the file system this works where reading a file does not. */
export function brought(source: string): Promise<void> {
  const known = waiting.get(source);
  if (known) return known;
  const made = new Promise<void>((resolve, reject) => {
    const script = document.createElement("script");
    script.src = source;
    script.onload = () => resolve();
    script.onerror = () => reject(new Error(`${source} is not there`));
    document.head.append(script);
  });
  waiting.set(source, made);
  return made;
}
