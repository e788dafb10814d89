/*
 * The flame graph come alive: throws the static frames away and draws what is visible of the zoomed
 * frame, at the window's width.
 *
 * Only frames of EL px and more get elements; the others of a class are one path. So the pointer finds
 * its frame by row and binary search, not by element, and a hundred thousand frames cost what the wide
 * ones cost. Names reach the page as text content and attribute values only, never as markup.
 */
const frames = $('frames'), head = $('head');
let W = 1200, charWidth = 7.3, headOffset = 0;
let legendLines = data.legend, below = 0;
let zoom = 0, focus = 0, hover = -1, byKeys = false;
let term = '', hitLabels = null;
let elements = new Map();

const inner = () => W - 2 * PAD;
const within = (i, top) => i >= top && i < end[top];
const shown = i => within(i, zoom) || within(zoom, i);
const rowY = d => data.head + (data.inverted ? d : data.levels - 1 - d) * ROW;
const isHit = i => hitLabels !== null && hitLabels[label[i]] === 1;

function place(i) {
    if (!within(i, zoom))
        return [PAD, inner()];
    const k = inner() / width[zoom];
    return [PAD + (start[i] - start[zoom]) * k, width[i] * k];
}

function classOf(i) {
    const s = sort[i];
    //#states
    if (s > 1) {
        const shade = data.shades[label[i]], letter = data.stateLetters[stateOf(i)];
        return letter + (letter === 'u' ? shade : shade % 3);
    }
    if (s === 1)
        return 'r0';
    //#
    return LETTERS[s] + (s >= 9 && s < 14 ? level[i] : s === 0 || s >= 7 ? '0' : data.shades[label[i]]);
}

// What a comparison says of a frame: "new 12 ns (1.20%)", "base 10 ns (1.00%)", "+0.20 points".
function sides(i) {
    const a = BigInt(was[i]), b = BigInt(is[i]), all = BigInt(was[0]), now = BigInt(is[0]);
    const points = percent(b * all - a * now, all * now).slice(0, -1);
    return ['new ' + weight(b) + ' (' + percent(b, now) + ')', 'base ' + weight(a) + ' (' + percent(a, all) + ')',
        (points[0] === '-' || +points === 0 ? '' : '+') + points + ' points'];
}

function facts(i, sep) {
    const dso = data.labelDsos[label[i]], binary = dso >= 0 ? [data.dsos[dso]] : [];
    if (data.diff)
        return sides(i).concat(sort[i] ? [KINDS[sort[i]]] : [], binary).join(sep);
    const f = ['total ' + weight(total[i]) + ' (' + percent(total[i], total[0]) + ')'];
    if (zoom && within(i, zoom) && i !== zoom)
        f.push(percent(total[i], total[zoom]) + ' of the zoomed frame');
    f.push('self ' + weight(self[i]) + ' (' + percent(self[i], total[0]) + ')');
    if (samples[i] !== null)
        f.push(plural(samples[i], 'sample'));
    //#states
    for (const [k, v] of states[i])
        f.push(data.states[k] + (states[i].length > 1 ? ' ' + weight(v) + ' (' + percent(v, total[i]) + ' of it)' : ''));
    //#
    if (sort[i])
        f.push(KINDS[sort[i]]);
    return f.concat(binary).join(sep);
}

//#states
// The shares of the states that a frame is made of, along its upper edge: where a hundredth is of another one.
function addStrip(i, x, w, strips) {
    const whole = Number(total[i]), gap = w >= 4 ? 1 : 0;
    if (states[i].some(([, v]) => Number(v) >= whole * 0.99))
        return;
    let from = x;
    for (const [k, v] of states[i]) {
        const wide = (w - gap) * Number(v) / whole;
        strips[k] += 'M' + round(from) + ' ' + rowY(depth[i]) + 'h' + round(wide) + 'v' + STRIP + 'H' + round(from);
        from += wide;
    }
}
//#

// Elements are cloned, and their number is kept small: see EL.
const rectangle = make('rect', {height: ROW - 1, role: 'treeitem', tabindex: -1});
const round = x => Math.round(x * 100) / 100;

function addElement(i, x, w, into) {
    const e = rectangle.cloneNode(), dashed = DASHED.includes(sort[i]) && w >= 8;
    const gap = w >= 4 ? 1 : 0, inset = dashed ? 0.5 : 0;
    e.setAttribute('class', classOf(i) + (dashed ? ' d' : '') + (within(i, zoom) ? '' : ' above') +
        (isHit(i) ? ' hit' : ''));
    e.setAttribute('x', round(x + inset));
    e.setAttribute('y', rowY(depth[i]) + inset);
    e.setAttribute('width', round(w - gap - 2 * inset));
    if (dashed)
        e.setAttribute('height', ROW - 2);
    e.setAttribute('data-i', i);
    e.setAttribute('aria-level', depth[i] + 1);
    e.setAttribute('aria-label', labels[label[i]] + ', ' +
        (data.diff ? sides(i).join(', ') : percent(total[i], total[0])) +
        (sort[i] ? ', ' + KINDS[sort[i]] : ''));
    //#states
    e.setAttribute('aria-label', e.getAttribute('aria-label') + states[i].map(([k, v]) => ', ' + data.states[k] +
        ' ' + percent(v, total[i])).join(''));
    //#
    into.appendChild(e);
    elements.set(i, e);
    return e;
}

function addLabel(i, x, w, into) {
    const s = fit(labelled(i), Math.floor((w - 7) / charWidth));
    if (s.length < 3 && s !== labelled(i))
        return;
    const t = make('text', {x: round(x + 3), y: rowY(depth[i]) + 13}, into);
    const c = (MARKED.includes(sort[i]) ? 't' + LETTERS[sort[i]] : '') + (isHit(i) ? ' hits' : '');
    if (c)
        t.setAttribute('class', c);
    t.textContent = s;
}

function render() {
    const narrow = new Map(), boxes = make('g', {role: 'tree', 'aria-label': 'Frames'});
    const texts = make('g', {'aria-hidden': 'true'}), paths = make('g', {'aria-hidden': 'true'});
    elements = new Map();
    //#states
    const strips = data.states.map(() => '');
    //#
    const draw = i => {
        const [x, w] = place(i);
        if (w >= EL) {
            addElement(i, x, w, boxes);
            //#states
            addStrip(i, x, w, strips);
            //#
            if (w >= LABELLED)
                addLabel(i, x, w, texts);
            return;
        }
        const c = isHit(i) ? 'hit' : classOf(i), left = round(x), least = isHit(i) ? 1 : 0.05;
        const d = 'M' + left + ' ' + rowY(depth[i]) + 'h' + Math.max(round(w), least) +
                'v' + (ROW - 1) + 'H' + left;
        const list = narrow.get(c);
        if (list)
            list.push(d);
        else
            narrow.set(c, [d]);
    };
    for (let i = zoom; i > 0;)
        draw(i = parent[i]);
    for (let i = zoom; i < end[zoom]; i++)
        draw(i);
    for (const [c, d] of narrow)
        make('path', {class: c, d: d.join('')}, paths);
    //#states
    strips.forEach((d, k) => d && texts.prepend(make('path', {class: data.stateLetters[k] + 'm', d: d})));
    //#
    frames.setAttribute('class', hitLabels ? 'searching' : '');
    frames.replaceChildren(paths, boxes, texts);
    if (!shown(focus))
        focus = zoom;
    element(focus).setAttribute('tabindex', 0);
    element(zoom).setAttribute('aria-current', 'true');
    drawRing();
}

// The element of a shown frame; the narrowest have one only when asked for.
function element(i) {
    return elements.get(i) || addElement(i, place(i)[0], Math.max(place(i)[1], EL), frames.children[1]);
}

const ring = make('rect', {class: 'ring', height: ROW - 1, visibility: 'hidden'});
svg.insertBefore(ring, head);

function drawRing() {
    const focused = frames.contains(document.activeElement) && byKeys;
    const i = hover >= 0 ? hover : focused ? focus : -1;
    ring.setAttribute('visibility', i >= 0 ? 'visible' : 'hidden');
    if (i < 0)
        return;
    const [x, w] = place(i);
    ring.setAttribute('class', hover < 0 ? 'ring keys' : 'ring');
    ring.setAttribute('x', round(x));
    ring.setAttribute('y', rowY(depth[i]));
    ring.setAttribute('width', Math.max(round(w - (w >= 4 ? 1 : 0)), 1));
}

// Cuts a text in a proportional font, whose width only the browser knows.
function fitText(e, s, room) {
    e.textContent = s;
    const width = e.getComputedTextLength();
    if (width > room)
        e.textContent = fit(s, Math.floor([...s].length * room / width) - 1);
}

function details() {
    const focused = frames.contains(document.activeElement);
    const i = hover >= 0 ? hover : focused ? focus : zoom;
    $('name').textContent = fit(labels[label[i]], Math.floor(inner() / (charWidth * 13 / 12)));
    fitText($('facts'), facts(i, ' · '), inner());
}

function focusOn(i) {
    if (elements.has(focus))
        elements.get(focus).setAttribute('tabindex', -1);
    focus = i;
    hover = -1;
    const e = element(i);
    e.setAttribute('tabindex', 0);
    e.focus({preventScroll: true});
    const box = svg.getBoundingClientRect(), y = box.top + rowY(depth[i]);
    if (y < data.head)
        window.scrollBy(0, y - data.head - ROW);
    else if (y + ROW > window.innerHeight)
        window.scrollBy(0, y + 2 * ROW - window.innerHeight);
    drawRing();
    details();
}

function zoomTo(i, keep) {
    const focused = frames.contains(document.activeElement);
    zoom = i;
    hover = -1;
    reset.setAttribute('aria-disabled', i === 0);
    render();
    search(term);
    if (focused)
        focusOn(shown(focus) ? focus : i);
    details();
    if (!keep)
        saveState(false);
}

// Search.
function matcher(t) {
    const flags = /[A-Z]/.test(t) ? '' : 'i';
    try {
        return new RegExp(t, flags);
    } catch (e) {
        return new RegExp(t.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), flags);
    }
}

function isPattern(t) {
    try {
        return new RegExp(t) && true;
    } catch (e) {
        return false;
    }
}

function search(t) {
    const changed = t !== term;
    term = t;
    if (changed) {
        hitLabels = null;
        if (t) {
            const m = matcher(t);
            hitLabels = Uint8Array.from(labels, l => m.test(l) ? 1 : 0);
        }
        const focused = frames.contains(document.activeElement);
        render();
        if (focused)
            focusOn(focus);
    }
    let count = 0, sum = 0n, until = zoom;
    for (let i = zoom; hitLabels && i > 0;)
        if (isHit(i = parent[i])) {
            count++;
            until = end[zoom];
            sum = BigInt(total[zoom]);
        }
    for (let i = zoom; hitLabels && i < end[zoom]; i++) {
        if (!isHit(i))
            continue;
        count++;
        if (i >= until) {
            sum += BigInt(total[i]);
            until = end[i];
        }
    }
    matched.textContent = !t ? '' : (isPattern(t) ? '' : 'As plain text: ') +
        (count ? percent(sum, total[zoom]) + ' matched in ' + plural(count, 'frame') : 'nothing matched');
    fitHead();
}

function nextHit(step) {
    const from = focus;
    for (let i = from + step; hitLabels; i += step) {
        if (i >= label.length)
            i = 0;
        if (i < 0)
            i = label.length - 1;
        if (isHit(i) && shown(i))
            return focusOn(i);
        if (i === from)
            return;
    }
}

// Zoom and search live in the address, so that a view can be kept and sent, and Back goes back.
function saveState(replace) {
    if (!alone)
        return;
    const parts = [];
    if (zoom)
        parts.push('zoom=' + zoom);
    if (term)
        parts.push('search=' + encodeURIComponent(term));
    const hash = parts.length ? '#' + parts.join('&') : '#';
    try {
        if (replace)
            history.replaceState(null, '', hash);
        else if (hash !== (location.hash || '#'))
            location.hash = hash;
    } catch (e) {
        return; // a sandbox without history: nothing is lost but this
    }
}

function loadState() {
    let z = 0, t = '';
    for (const part of alone ? location.hash.slice(1).split('&') : []) {
        const [key, value] = part.split('=');
        try {
            if (key === 'zoom' && /^\d+$/.test(value) && +value < label.length)
                z = +value;
            else if (key === 'search' && value)
                t = decodeURIComponent(value);
        } catch (e) {
            t = '';
        }
    }
    if (t !== field.text) {
        field.set(t);
        search(t);
    }
    if (z !== zoom)
        zoomTo(z, true);
}

// The tools of the head. SVG has no text field, so this is one: it takes keys, paste and copy.
const tools = make('g', {}, head);
const matched = make('text', {'text-anchor': 'end', y: 48, role: 'status', id: 'sp-matched'}, head);
const hint = make('text', {class: 'm', 'text-anchor': 'end', y: 66}, head);
const reset = make('g', {class: 'button', role: 'button', tabindex: 0, 'aria-label': 'Reset zoom',
    'aria-disabled': 'true', id: 'sp-reset'});
hint.textContent = 'Click or Enter zooms · Esc resets · / searches · n next match · arrows move';

const field = makeField(make('g', {class: 'field', role: 'searchbox', tabindex: 0, id: 'sp-search'}, tools));

// The legend in as many lines as it takes; what is below moves with it. How many lines it has.
function fitLegend() {
    let x = PAD, lines = 1;
    for (const item of $('legend').children) {
        const wide = item.getBBox().x + item.getBBox().width;
        if (x > PAD && x + wide > W - PAD) {
            x = PAD;
            lines++;
        }
        item.setAttribute('transform', 'translate(' + x + ' ' + (66 + (lines - 1) * NOTE) + ')');
        x += wide + 18;
    }
    const more = (lines - legendLines) * NOTE;
    legendLines = lines;
    below += more;
    data.head += more;
    $('below').setAttribute('transform', 'translate(0 ' + below + ')');
    $('back').setAttribute('height', data.head - 4);
    svg.setAttribute('height', data.head + data.levels * ROW + PAD);
    return lines;
}

function fitHead() {
    field.width = Math.round(Math.min(250, Math.max(110, W * 0.3)));
    const right = W - PAD - 92, left = right - 8 - field.width;
    field.box.setAttribute('transform', 'translate(' + left + ' 9)');
    reset.setAttribute('transform', 'translate(' + right + ' 9)');
    field.draw();
    fitText($('title'), data.title, left - 2 * PAD);
    if ($('sub'))
        fitText($('sub'), data.subtitle, inner() - (term ? matched.getComputedTextLength() + 2 * PAD : 0));
    head.querySelectorAll('.note').forEach((e, k) => fitText(e, data.notes[k], inner()));
    matched.setAttribute('x', W - PAD);
    hint.setAttribute('x', W - PAD);
    const room = W - 3 * PAD - $('legend').getBBox().width - PAD;
    hint.setAttribute('visibility', fitLegend() === 1 && hint.getComputedTextLength() < room ? 'visible' : 'hidden');
    $('back').setAttribute('width', W);
    $('rule').setAttribute('d', $('rule').getAttribute('d').replace(/h.*/, 'h' + W));
}

function stick() {
    const box = svg.getBoundingClientRect();
    headOffset = Math.max(0, Math.min(-box.top, box.height - data.head));
    head.setAttribute('transform', 'translate(0 ' + headOffset + ')');
}

function layout() {
    const w = Math.max(320, svg.getBoundingClientRect().width);
    if (w !== W || !elements.size) {
        const focused = frames.contains(document.activeElement);
        W = w;
        fitHead();
        render();
        if (focused)
            element(focus).focus({preventScroll: true});
        details();
    }
    stick();
}

// The pointer.
function frameAt(e) {
    if (head.contains(e.target) || !svg.contains(e.target))
        return -1;
    const box = svg.getBoundingClientRect();
    const y = Math.floor((e.clientY - box.top - data.head) / ROW), x = e.clientX - box.left - PAD;
    const d = data.inverted ? y : data.levels - 1 - y;
    if (d < 0 || d >= rows.length || x < 0 || x > inner())
        return -1;
    if (d <= depth[zoom]) {
        let i = zoom;
        while (depth[i] > d)
            i = parent[i];
        return i;
    }
    const at = start[zoom] + x / inner() * width[zoom], row = rows[d];
    let low = 0, high = row.length;
    while (low < high) {
        const mid = low + high >> 1;
        if (start[row[mid]] <= at)
            low = mid + 1;
        else
            high = mid;
    }
    const i = low ? row[low - 1] : -1;
    return i >= 0 && within(i, zoom) && at <= start[i] + width[i] ? i : -1;
}

function pointed(i) {
    if (i === hover)
        return;
    hover = i;
    drawRing();
    details();
}

function clicked(e) {
    if (field.box.contains(e.target)) {
        if (e.pointerType === 'touch')
            field.ask(); // brings up the keyboard
        field.all = false;
        field.box.focus({preventScroll: true});
        return field.draw();
    }
    if (reset.contains(e.target))
        return zoomTo(0);
    // assistive technology clicks without a place
    const named = e.detail === 0 && e.target.hasAttribute('data-i');
    const i = named ? +e.target.getAttribute('data-i') : frameAt(e);
    if (i >= 0) {
        focus = i;
        zoomTo(i);
        focusOn(i);
        pointed(e.detail ? frameAt(e) : -1);
    }
}

// The keys.
function heaviestChild(i) {
    let best = -1;
    for (let c = i + 1; c < end[i]; c = end[c])
        if (best < 0 || width[c] > width[best])
            best = c;
    return best;
}

function neighbour(i, step) {
    const row = rows[depth[i]], j = row[row.indexOf(i) + step];
    return j !== undefined && shown(j) ? j : -1;
}

function keyInFrames(e) {
    const away = data.inverted ? 'ArrowDown' : 'ArrowUp', back = data.inverted ? 'ArrowUp' : 'ArrowDown';
    let to = -1;
    if (e.key === 'Enter' || e.key === ' ')
        return zoomTo(focus), true;
    else if (e.key === away)
        to = within(focus, zoom) ? heaviestChild(focus) : rowToward(focus);
    else if (e.key === back)
        to = parent[focus];
    else if (e.key === 'ArrowLeft' || e.key === 'ArrowRight')
        to = neighbour(focus, e.key === 'ArrowLeft' ? -1 : 1);
    else if (e.key === 'Home')
        to = zoom;
    else
        return false;
    if (to >= 0)
        focusOn(to);
    return true;
}

// From an ancestor of the zoomed frame, the next one on the way to it.
function rowToward(i) {
    let c = zoom;
    while (parent[c] !== i)
        c = parent[c];
    return c;
}

function key(e) {
    byKeys = true;
    const active = document.activeElement, plain = !e.ctrlKey && !e.metaKey && !e.altKey;
    let done = true;
    if (active === field.box)
        done = field.key(e);
    else if (e.key === '/' && plain || (e.key === 'f' && (e.ctrlKey || e.metaKey)))
        field.take();
    else if (e.key === 'Escape')
        zoom ? zoomTo(0) : field.text ? field.edit(0, 1000, '') : done = false;
    else if (active === reset && (e.key === 'Enter' || e.key === ' '))
        zoomTo(0);
    else if (plain && term && (e.key === 'n' || e.key === 'N'))
        nextHit(e.key === 'n' ? 1 : -1);
    else
        done = plain && frames.contains(active) && keyInFrames(e);
    if (done)
        e.preventDefault();
}

function listen() {
    svg.addEventListener('click', clicked);
    svg.addEventListener('pointermove', e => pointed(frameAt(e)));
    svg.addEventListener('pointerleave', () => pointed(-1));
    svg.addEventListener('pointerdown', () => {
        byKeys = false;
    });
    svg.addEventListener('focusin', e => {
        if (e.target.hasAttribute('data-i'))
            focus = +e.target.getAttribute('data-i');
        drawRing();
        details();
    });
    svg.addEventListener('focusout', () => {
        drawRing();
        details();
    });
    (alone ? document : svg).addEventListener('keydown', key);
    document.addEventListener('paste', e => {
        if (document.activeElement !== field.box)
            return;
        const t = e.clipboardData.getData('text/plain').split(/[\r\n]/)[0];
        field.edit(field.caret, field.caret, t);
        e.preventDefault();
    });
    document.addEventListener('copy', e => {
        if (document.activeElement === field.box && field.all) {
            e.clipboardData.setData('text/plain', field.text);
            e.preventDefault();
        }
    });
    window.addEventListener('resize', () => requestAnimationFrame(layout));
    window.addEventListener('scroll', stick, {passive: true});
    window.addEventListener('hashchange', loadState);
}

function begin() {
    svg.setAttribute('role', 'figure');
    svg.removeAttribute('viewBox');
    if (alone)
        svg.setAttribute('tabindex', -1); // Chromium would make the root a stop of Tab
    svg.setAttribute('width', '100%');
    const ruler = make('text', {}, frames);
    ruler.textContent = 'M'.repeat(100);
    charWidth = ruler.getComputedTextLength() / 100 || charWidth;
    field.build();
    make('rect', {x: 0.5, y: 0.5, width: 91, height: 25, rx: 4}, reset);
    make('text', {x: 46, y: 17, 'text-anchor': 'middle'}, reset).textContent = 'Reset zoom';
    tools.appendChild(reset);
    listen();
    layout();
    loadState();
    // A graph taller than the window starts where its root is.
    if (alone && !data.inverted && !zoom)
        window.scrollTo(0, document.documentElement.scrollHeight);
    stick();
}

readFrames();
if (label.length)
    begin();
