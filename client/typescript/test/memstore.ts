/** A memstore of a test's own, in a home of its own, started as a person starts it. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class Memstore {
  readonly home: string;

  constructor() {
    this.home = mkdtempSync(join(tmpdir(), "graft-ts-"));
    const models = process.env["GRAFT_TEST_MODELS"];
    if (models) {
      symlinkSync(models, join(this.home, "models"));
    }
    this.run("start");
  }

  /** Runs `graft`, which must be on the PATH, and returns what it prints. */
  run(...command: string[]): string {
    return execFileSync("graft", command, {
      encoding: "utf8",
      env: { ...process.env, GRAFT_HOME: this.home },
      stdio: ["ignore", "pipe", "ignore"],
    });
  }

  /** Returns the objects that a command prints, one a line. */
  lines(...command: string[]): Record<string, unknown>[] {
    return this.run(...command, "--json")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  end(): void {
    this.run("stop", "--force");
    rmSync(this.home, { recursive: true, force: true });
  }
}
