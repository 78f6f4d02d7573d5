// pi: a session in its file, and the context for each call of the model; compacted by pi's cut with a ready summary.

import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { serve, transcript, untilEachCall } from "./timing.mjs";

// The summarizer answers at once.
const SUMMARY = "The work so far. ".repeat(100);

async function loaded() {
  const at = (path) => pathToFileURL(join(process.argv[2], "dist", path)).href;
  const { SessionManager } = await import(at("core/session-manager.js"));
  const { convertToLlm } = await import(at("core/messages.js"));
  const compaction = await import(at("core/compaction/compaction.js"));
  return { SessionManager, convertToLlm, ...compaction };
}

function said(message, number) {
  const timestamp = 1_700_000_000_000 + number;
  const text = { type: "text", text: message.content ?? "" };
  if (message.role === "user") return { role: "user", content: [text], timestamp };
  if (message.role === "tool") {
    return { role: "toolResult", toolCallId: message.tool_call_id, toolName: "tool", content: [text], isError: false, timestamp };
  }
  const calls = (message.tool_calls ?? []).map((call) => ({
    type: "toolCall",
    id: call.id,
    name: call.function.name,
    arguments: JSON.parse(call.function.arguments),
  }));
  const origin = { api: "openai-completions", provider: "openai", model: "gpt-4o", stopReason: "toolUse" };
  return { role: "assistant", content: [text, ...calls], ...origin, timestamp };
}

const characters = (messages) => JSON.stringify(messages).length;

// `isKept`: as pi's agent does, which holds its messages and reads the session anew after a compaction only. Else the
// context of each call is read from the session.
function session(isKept) {
  return async (job) => {
    const pi = await loaded();
    const settings = { enabled: true, reserveTokens: job.window - job.trigger, keepRecentTokens: job.target };
    const groups = untilEachCall(transcript(job)).map((group, number) => group.map((each) => said(each, number)));
    // What a provider reports with each answer.
    const sizes = new Map(groups.flat().map((message) => [message, pi.estimateTokens(message)]));
    const sizeOf = (message) => sizes.get(message) ?? pi.estimateTokens(message);
    return () => {
      const folder = mkdtempSync(join(job.folder, "pi-"));
      const manager = pi.SessionManager.create(folder, folder);
      return () => run(pi, manager, groups, settings, job.window, sizeOf, isKept);
    };
  };
}

function run(pi, manager, groups, settings, window, sizeOf, isKept) {
  let messages = [];
  let used = 0;
  let view = [];
  for (const group of groups) {
    for (const message of group) {
      used += sizeOf(message);
      const reported = { input: used, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: used };
      manager.appendMessage(message.role === "assistant" ? Object.assign(message, { usage: reported }) : message);
      messages.push(message);
    }
    if (pi.shouldCompact(used, window, settings)) {
      const prepared = pi.prepareCompaction(manager.getBranch(), settings);
      if (prepared !== undefined) {
        manager.appendCompaction(SUMMARY, prepared.firstKeptEntryId, prepared.tokensBefore);
        messages = manager.buildSessionContext().messages;
        used = messages.reduce((sum, message) => sum + sizeOf(message), 0);
      }
    }
    view = pi.convertToLlm(isKept ? messages : manager.buildSessionContext().messages);
  }
  return view;
}

await serve({ session: session(false), agent: session(true) }, characters);
