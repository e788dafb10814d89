/*
 * The data of the picture (flamegraph_data.c), numbers and texts. The script's files are joined into one
 * function in the order model, field, view: what they define stays inside it.
 */
const NS = 'http://www.w3.org/2000/svg';
const PAD = 10, ROW = 18, NOTE = 18, EL = 3, LABELLED = 14, LETTERS = 'rcuikjnghpbqwve';
const KINDS = ['everything', 'thread', 'user', 'inlined', 'kernel', 'kernel, inlined', 'kind not stated',
    'unresolved', 'kernel, unresolved', 'grew', 'shrank', 'about the same', 'new', 'vanished', 'inferred'];
const DASHED = [3, 5, 12, 13, 14], MARKED = [1, 7, 8, 12, 13, 14]; // by a line of dashes; by the letters of the label
//#states
const STRIP = 3; // px
//#
const script = document.currentScript;
const svg = script && script.ownerSVGElement || document.documentElement;
const alone = svg === document.documentElement;
const $ = id => svg.querySelector('#sp-' + id);
const data = JSON.parse($('data').textContent);
const labels = data.labels;
const labelled = i => data.shorts[label[i]] || labels[label[i]]; // the label of a frame

function make(name, attributes, parent) {
    const e = document.createElementNS(NS, name);
    for (const k in attributes)
        e.setAttribute(k, attributes[k]);
    if (parent)
        parent.appendChild(e);
    return e;
}

// The frames, as one array per property; see flamegraph_data.c.
const label = [], sort = [], depth = [], parent = [], end = [], start = [], width = [];
const total = [], self = [], samples = [], rows = [];
// Of comparisons: the weights of the two sides, and how strong the colour is.
const was = [], is = [], level = [];
//#states
// How much of a frame is of which state: pairs of a number in data.states and a weight, in their order.
const states = [];

function readStates(v, p, t) {
    const mask = v[p++], found = [];
    for (let k = 0; k < data.states.length; k++)
        if (mask >> k & 1)
            found.push([k, mask & mask - 1 ? v[p++] : t]);
    states.push(found);
    return p;
}

// A frame has the colour of the state that nine tenths of it are in; else none of them: data.states.length.
function stateOf(i) {
    for (const [k, v] of states[i])
        if (BigInt(v) * 10n >= BigInt(total[i]) * 9n)
            return k;
    return data.states.length;
}
//#

function readFrames() {
    const v = data.frames, open = [];
    let at = [];
    for (let p = 0, i = 0; p < v.length; i++) {
        for (let up = v[p]; up > 0; up--)
            end[open.pop()] = i;
        const d = open.length, code = v[p + 2], t = v[p + 3];
        label.push(v[p + 1]);
        sort.push(code & 15);
        p += 4;
        const gap = code & 16 ? Number(v[p++]) : 0;
        total.push(t);
        self.push(code & 32 ? v[p++] : t);
        samples.push(code & 64 ? v[p++] : code & 128 ? t : null);
        if (data.diff) {
            was.push(v[p++]);
            is.push(v[p++]);
            level.push(v[p++]);
        }
        //#states
        p = readStates(v, p, t);
        //#
        const up = d ? open[d - 1] : -1, s = d ? at[d] + gap : 0;
        start.push(s);
        width.push(d ? Math.min(Number(t), start[up] + width[up] - s) : Number(t));
        at[d] = s + width[i];
        at[d + 1] = s;
        depth.push(d);
        parent.push(up);
        open.push(i);
        (rows[d] || (rows[d] = [])).push(i);
    }
    for (const i of open)
        end[i] = label.length;
}

// Exact numbers: weights may be beyond what a double holds.
function grouped(v, scale) {
    let t = BigInt(v).toString(), minus = '', fraction = '';
    if (t[0] === '-') {
        minus = '-';
        t = t.slice(1);
    }
    if (scale) {
        t = t.padStart(scale + 1, '0');
        fraction = t.slice(-scale).replace(/0+$/, '');
        t = t.slice(0, -scale);
    }
    return minus + t.replace(/\B(?=(\d{3})+$)/g, ',') + (fraction && '.' + fraction);
}

function percent(v, of) {
    let a = BigInt(v) * 10000n, b = BigInt(of);
    if (b === 0n)
        return '0.00%';
    const minus = a < 0n !== b < 0n && a !== 0n;
    a = a < 0n ? -a : a;
    b = b < 0n ? -b : b;
    const q = ((a * 2n + b) / (b * 2n)).toString().padStart(3, '0');
    return (minus && +q ? '-' : '') + q.slice(0, -2) + '.' + q.slice(-2) + '%';
}

// Bytes as src/render/text.c writes them: "1.50 KiB".
function bytes(v, scale) {
    const names = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
    let m = BigInt(v), unit = 10n ** BigInt(scale), u = 0;
    const minus = m < 0n ? '-' : '';
    m = m < 0n ? -m : m;
    for (; u < 6 && m >= unit * 1024n; u++)
        unit *= 1024n;
    let h = (m * 200n + unit) / (unit * 2n);
    if (u && u < 6 && h >= 102400n) {
        h = 100n;
        u++;
    }
    const t = h.toString().padStart(3, '0');
    return minus + (u ? t.slice(0, -2) + '.' + t.slice(-2) : grouped(h, 2)) + ' ' + names[u];
}

// Nanoseconds as src/answer/words.c writes them: "1.5 ms".
function time(v) {
    let m = BigInt(v);
    const minus = m < 0n ? '-' : '', units = [[1000000000n, ' s'], [1000000n, ' ms'], [1000n, ' us']];
    m = m < 0n ? -m : m;
    const u = units.find(u => m >= u[0]);
    return minus + grouped((m * 200n + u[0]) / (u[0] * 2n), 2).replace(/,/g, '') + u[1];
}

// The same with a larger unit, where there is one that people know.
function short(v) {
    if (data.unit === 'bytes')
        return ' = ' + bytes(v, data.scale);
    return data.unit === 'ns' && !data.scale && (BigInt(v) >= 1000n || BigInt(v) <= -1000n) ? ' = ' + time(v) : '';
}

const weight = v => grouped(v, data.scale) + (data.unit && ' ' + data.unit) + short(v);
const plural = (n, word) => grouped(n, 0) + ' ' + word + (n === 1 ? '' : 's');

// Columns of a monospaced font, as src/render/text.c counts them, roughly.
const PLAIN = /^[\x20-\x7e]*$/;
const ZERO = /[\p{Mn}\p{Me}\u200c\u200d]/u;
const WIDE = new RegExp('[\\u1100-\\u115f\\u2e80-\\u303e\\u3041-\\ua4c6\\ua960-\\ua97c\\uac00-\\ud7a3' +
    '\\uf900-\\ufad9\\ufe10-\\ufe6b\\uff01-\\uff60\\uffe0-\\uffe6' +
    '\\u{1f300}-\\u{1faff}\\u{20000}-\\u{3fffd}]', 'u');
const columns = c => ZERO.test(c) ? 0 : WIDE.test(c) ? 2 : 1;

function fit(s, room) {
    if (room < 1)
        return '';
    const tail = room < 12 ? 0 : room - 1 >> 1, head = room - 1 - tail;
    if (PLAIN.test(s))
        return s.length <= room ? s : s.slice(0, head) + '…' + (tail ? s.slice(-tail) : '');
    const chars = [...s], w = chars.map(columns);
    let left = w.reduce((a, b) => a + b, 0), used = 0, i = 0;
    if (left <= room)
        return s;
    while (used + w[i] <= head)
        used += w[i++];
    const cut = i;
    for (left -= used; i < chars.length && (left > tail || w[i] === 0); i++)
        left -= w[i];
    return chars.slice(0, cut).join('') + '…' + chars.slice(i).join('');
}
