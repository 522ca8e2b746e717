import { expect, it } from "vitest";
import { AGENT_IDS, knownAgents } from "../../../src/cli/agents/known-agents.ts";

const filesOn = (platform: NodeJS.Platform, home: string, env = {}) => {
  const agents = knownAgents(platform, home, env);
  return AGENT_IDS.map((id) => agents[id].userFile);
};

it("knows the files of each system", () => {
  expect(filesOn("linux", "/home/ada")).toEqual([
    "/home/ada/.claude.json",
    "/home/ada/.config/Claude/claude_desktop_config.json",
    "/home/ada/.cursor/mcp.json",
    "/home/ada/.config/Code/User/mcp.json",
    "/home/ada/.codex/config.toml",
    "/home/ada/.gemini/settings.json",
    "/home/ada/.codeium/windsurf/mcp_config.json",
    "/home/ada/.config/opencode/opencode.json",
    "/home/ada/.config/zed/settings.json",
    "/home/ada/.cline/data/settings/cline_mcp_settings.json",
    "/home/ada/.config/goose/config.yaml",
    "/home/ada/.copilot/mcp-config.json",
  ]);
  expect(filesOn("darwin", "/Users/ada")).toContain("/Users/ada/.config/zed/settings.json");
  expect(filesOn("win32", "C:\\Users\\ada", { APPDATA: "D:\\Roaming" }).slice(7)).toEqual([
    "C:\\Users\\ada\\.config\\opencode\\opencode.json",
    "D:\\Roaming\\Zed\\settings.json",
    "C:\\Users\\ada\\.cline\\data\\settings\\cline_mcp_settings.json",
    "D:\\Roaming\\Block\\goose\\config\\config.yaml",
    "C:\\Users\\ada\\.copilot\\mcp-config.json",
  ]);
  expect(filesOn("darwin", "/Users/ada").slice(1, 4)).toEqual([
    "/Users/ada/Library/Application Support/Claude/claude_desktop_config.json",
    "/Users/ada/.cursor/mcp.json",
    "/Users/ada/Library/Application Support/Code/User/mcp.json",
  ]);
  expect(filesOn("win32", "C:\\Users\\ada", { APPDATA: "D:\\Roaming" }).slice(0, 4)).toEqual([
    "C:\\Users\\ada\\.claude.json",
    "D:\\Roaming\\Claude\\claude_desktop_config.json",
    "C:\\Users\\ada\\.cursor\\mcp.json",
    "D:\\Roaming\\Code\\User\\mcp.json",
  ]);
});

it("goes by the folders that variables name", () => {
  const agents = knownAgents("linux", "/home/ada", {
    CODEX_HOME: "/x",
    CLAUDE_CONFIG_DIR: "/c",
    XDG_CONFIG_HOME: "/y",
    COPILOT_HOME: "/p",
  });
  expect(agents.codex.userFile).toBe("/x/config.toml");
  expect(agents["claude-code"].userFile).toBe("/c/.claude.json");
  expect(agents.copilot.userFile).toBe("/p/mcp-config.json");
  expect(agents.goose.userFile).toBe("/y/goose/config.yaml");
  expect(agents["claude-desktop"].userFile).toBe("/y/Claude/claude_desktop_config.json");
});
