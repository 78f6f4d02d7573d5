// The conversation of a driver in Node: a job on the first line, then a line for each run (see timing.py).

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

export async function serve(jobs, size) {
  const answer = (text) => process.stdout.write(`${text}\n`);
  // What a peer prints goes to the standard error.
  console.log = console.info = console.debug = console.error;
  let prepare;
  for await (const line of createInterface({ input: process.stdin })) {
    if (prepare === undefined) {
      const job = JSON.parse(line);
      prepare = await jobs[job.task](job);
      answer("ready");
      continue;
    }
    const work = prepare();
    const start = process.hrtime.bigint();
    const result = await work();
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    answer(JSON.stringify({ seconds, size: size(result) }));
  }
  process.exit(0);
}

export function transcript(job) {
  return JSON.parse(readFileSync(job.transcript, "utf-8"));
}

// The messages in groups: each ends where the model is called, so an answer begins the next one.
export function untilEachCall(messages) {
  const groups = [];
  let group = [];
  for (const message of messages) {
    if (group.length > 0 && message.role === "assistant") {
      groups.push(group);
      group = [];
    }
    group.push(message);
  }
  groups.push(group);
  return groups;
}
