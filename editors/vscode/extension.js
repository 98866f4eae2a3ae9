// Starts tile-lsp-server for MLIR files, and again when its command is another one.

"use strict";

const { commands, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

/** Start the server that the settings name. */
async function start() {
  const [command, ...args] = workspace.getConfiguration("tilec").get("server");
  client = new LanguageClient(
    "tilec",
    "tilec",
    { command, args },
    { documentSelector: [{ language: "mlir" }] },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    window.showErrorMessage(
      `${command} does not start: ${error.message}. ` +
        "Install it by `pip install 'tilec[lsp]'`, and name it in the setting tilec.server.",
    );
  }
}

/** Stop the server, if there is one. */
async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    commands.registerCommand("tilec.restart", restart),
    workspace.onDidChangeConfiguration(async (changed) => {
      if (changed.affectsConfiguration("tilec.server")) {
        await restart();
      }
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
