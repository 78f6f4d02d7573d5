// NeuroLink: its compactor without the stage that calls a model, on messages in memory.

import { pathToFileURL } from "node:url";
import { join } from "node:path";

import { serve, transcript, untilEachCall } from "./timing.mjs";

const PROVIDER = "openai";

async function loaded() {
  // The package exports the agent alone; these are the modules with which it compacts.
  const at = (path) => pathToFileURL(join(process.argv[2], "dist", path)).href;
  const { ContextCompactor } = await import(at("context/contextCompactor.js"));
  const { estimateMessagesTokens } = await import(at("utils/tokenEstimation.js"));
  const compactor = new ContextCompactor({ provider: PROVIDER, enableSummarize: false });
  return { compactor, estimate: (messages) => estimateMessagesTokens(messages, PROVIDER) };
}

// NeuroLink has a message of its own for each call.
function said(message, number) {
  const base = { id: `m${number}`, content: message.content ?? "" };
  if (message.role === "tool") return [{ ...base, role: "tool_result" }];
  const calls = (message.tool_calls ?? []).map((call) => ({
    id: call.id,
    role: "tool_call",
    content: call.function.arguments,
    tool: call.function.name,
  }));
  return [{ ...base, role: message.role }, ...calls];
}

const characters = (messages) => messages.reduce((sum, message) => sum + message.content.length, 0);

async function compact(job) {
  const { compactor } = await loaded();
  const messages = transcript(job).flatMap(said);
  return () => async () => (await compactor.compact(messages, job.target)).messages;
}

async function session(job) {
  const { compactor, estimate } = await loaded();
  const groups = untilEachCall(transcript(job)).map((group, number) => group.flatMap((each, index) => said(each, `${number}-${index}`)));
  return () => async () => {
    let messages = [];
    for (const group of groups) {
      messages.push(...group);
      if (estimate(messages) >= job.trigger) {
        messages = (await compactor.compact(messages, job.target)).messages;
      }
    }
    return messages;
  };
}

await serve({ compact, session }, characters);
