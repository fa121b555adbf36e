/** What lies in an edge's state folder, to be searched for what must not. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** The contents of its files. SQLite takes its journals away when an idle object closes, so a file may go while the others are read. */
export async function readStateFiles(stateFolder: string): Promise<Buffer[]> {
  const entries = await readdir(stateFolder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const contents = await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name)).catch(unlessGone)));
  return contents.filter((content) => content !== undefined);
}

function unlessGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
