/*
 * `spaa mcp` with the clients that people use, from the npm registry, in both forms of the protocol:
 *
 *     npm install --prefix DIR @modelcontextprotocol/client @modelcontextprotocol/inspector
 *     node tests/mcp/clients.mjs build/spaa PROFILE DIR      (node 22 or newer)
 *
 * Says what it did, a line each; exit 1 at the first thing that is wrong, 77 where the packages are not there.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [spaa, profile, packages] = process.argv.slice(2).map((p) => resolve(p));
let Client, StdioClientTransport, inspector;
try {
    const require = createRequire(pathToFileURL(packages + '/package.json'));
    ({ Client } = await import(pathToFileURL(require.resolve('@modelcontextprotocol/client'))));
    ({ StdioClientTransport } = await import(pathToFileURL(require.resolve('@modelcontextprotocol/client/stdio'))));
    inspector = packages + '/node_modules/@modelcontextprotocol/inspector/cli/build/cli.js';
} catch (e) {
    console.log(`skipped: ${e.message.split('\n')[0]}`);
    process.exit(77);
}

const SLOW = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n, functions';

async function drive(title, mode, options = {}) {
    const client = new Client({ name: 'test', version: '1' }, { ...(mode ? { versionNegotiation: { mode } } : {}), ...options });
    const wrong = [];
    client.onerror = (e) => wrong.push(e);
    if (options.capabilities?.roots)
        client.setRequestHandler('roots/list', async () => ({ roots: [{ uri: pathToFileURL(resolve(profile, '..')).href }] }));
    await client.connect(new StdioClientTransport({ command: spaa, args: ['mcp'], stderr: 'inherit' }));
    const version = client.getNegotiatedProtocolVersion?.() ?? '?';
    const say = (words) => console.log(`${title} (${version}): ${words}`);

    const { tools } = await client.listTools();
    say(`tools ${tools.map((t) => t.name).join(' ')}`);
    const opened = await client.callTool({ name: 'open', arguments: { path: profile } });
    assert.match(opened.content[0].text, /^p1 = /);
    say(`open ${opened.content[0].text.split('\n')[0]}`);
    const summary = await client.callTool({ name: 'summary', arguments: { profile: 'p1' } });
    assert(!summary.isError && summary.content[0].text.length < 2500);
    say(`summary ${summary.content[0].text.length} characters`);
    const top = await client.callTool({ name: 'top', arguments: { profile: 'p1', format: 'json', limit: 2 } });
    assert.deepEqual(JSON.parse(top.content[0].text), top.structuredContent);
    say(`top ${top.structuredContent.rows[0].function}`);
    const refused = await client.callTool({ name: 'top', arguments: { profile: 'p77' } });
    assert(refused.isError);
    say(`refused: ${refused.content[0].text}`);
    await assert.rejects(client.callTool({ name: 'nothing', arguments: {} }), (e) => e.code === -32602);
    const many = await Promise.all([...Array(20).keys()].map((i) =>
        client.callTool({ name: i % 2 ? 'tree' : 'top', arguments: { profile: i % 3 ? 'p1' : profile } })));
    assert(many.every((m) => !m.isError));
    say(`${many.length} calls at the same time`);
    const leave = new AbortController();
    setTimeout(() => leave.abort(), 300);
    await assert.rejects(client.callTool({ name: 'query', arguments: { profile: 'p1', sql: SLOW } }, { signal: leave.signal }));
    assert.match((await client.callTool({ name: 'top', arguments: { profile: 'p1' } })).content[0].text, /self/);
    say('a call was cancelled, and the next one for the same profile answered');
    const { resources } = await client.listResources();
    for (const r of resources)
        assert((await client.readResource({ uri: r.uri })).contents[0].text.length > 0);
    const { prompts } = await client.listPrompts();
    for (const p of prompts)
        assert((await client.getPrompt({ name: p.name, arguments: Object.fromEntries(p.arguments.map((a) => [a.name, 'x'])) })).messages.length);
    await assert.rejects(client.readResource({ uri: 'spaa://nothing' }));
    say(`${resources.length} resources, ${prompts.length} prompts`);
    if (options.capabilities?.roots) {
        const outside = await client.callTool({ name: 'top', arguments: { profile: '/etc/passwd' } });
        assert(outside.isError);
        say(`refused: ${outside.content[0].text}`);
    }
    await client.close();
    assert.deepEqual(wrong, []);
}

function inspect(...args) {
    const out = execFileSync(process.execPath, [inspector, '--cli', spaa, 'mcp', ...args], { encoding: 'utf8' });
    console.log(`inspector ${args.join(' ').slice(0, 90)}: ${out.length} characters`);
    return JSON.parse(out);
}

await drive('client, as it comes');
await drive('client, legacy', 'legacy');
await drive('client, auto', 'auto');
await drive('client, pinned', { pin: '2026-07-28' });
await drive('client, legacy with roots', 'legacy', { capabilities: { roots: { listChanged: true } } });
assert(inspect('--method', 'tools/list').tools.length >= 10);
assert(inspect('--method', 'resources/list').resources.length >= 10);
inspect('--method', 'prompts/list');
assert.match(inspect('--method', 'tools/call', '--tool-name', 'summary', '--tool-arg', `profile=${profile}`).content[0].text, /\n/);
const two = inspect('--method', 'tools/call', '--tool-name', 'top', '--tool-arg', `profile=${profile}`, 'limit=2', 'format=json');
assert(two.structuredContent.rows.length <= 2);
assert(inspect('--method', 'tools/call', '--tool-name', 'top', '--tool-arg', 'profile=/no/such').isError);
console.log('all is well');
