/*
 * A text field. SVG has none and <foreignObject> is not allowed everywhere, so this one takes the keys
 * itself: typing, moving, selecting all, paste and copy. What it cannot do, input methods and the keyboard
 * of a touch screen, it leaves to the browser's prompt.
 */
function makeField(box) {
    return {
        box, text: '', caret: 0, all: false, width: 250,
        build() {
            this.frame = make('rect', {x: 0.5, y: 0.5, height: 25, rx: 4}, this.box);
            this.view = make('svg', {x: 6, height: 26, overflow: 'hidden'}, this.box);
            this.back = make('rect', {class: 'all', y: 4, height: 18, visibility: 'hidden'}, this.view);
            this.words = make('text', {y: 17, 'xml:space': 'preserve'}, this.view);
            this.words.style.whiteSpace = 'pre';
            this.line = make('path', {class: 'caret'}, this.view);
        },
        set(t) {
            this.text = t.slice(0, 1000);
            this.caret = [...this.text].length;
            this.all = false;
            this.draw();
        },
        draw() {
            const room = this.width - 12, before = [...this.text].slice(0, this.caret).join('');
            this.frame.setAttribute('width', this.width - 1);
            this.view.setAttribute('width', room);
            this.words.textContent = before;
            const x = before ? this.words.getComputedTextLength() : 0, shift = Math.max(0, x - room + 2);
            this.words.textContent = this.text || 'Search (regular expression)';
            this.words.setAttribute('class', this.text ? '' : 'empty');
            this.words.setAttribute('x', -shift);
            this.line.setAttribute('d', 'M' + round(x - shift + 0.5) + ' 5v16');
            this.back.setAttribute('visibility', this.all && this.text ? 'visible' : 'hidden');
            const length = this.text ? this.words.getComputedTextLength() : 0;
            this.back.setAttribute('width', Math.min(room, length));
            const says = this.text || 'empty';
            this.box.setAttribute('aria-label', 'Search frames, regular expression: ' + says);
        },
        edit(from, to, s) {
            const c = [...this.text];
            if (this.all) {
                from = 0;
                to = c.length;
            }
            c.splice(Math.max(from, 0), Math.max(to, 0) - Math.max(from, 0), ...s);
            this.set(c.join(''));
            this.caret = Math.max(from, 0) + [...s].length;
            this.draw();
            search(this.text);
            saveState(true);
        },
        key(e) {
            const n = [...this.text].length, moves = {ArrowLeft: this.all ? 0 : this.caret - 1,
                ArrowRight: this.all ? n : this.caret + 1, Home: 0, End: n};
            if (e.key === 'Process' || e.key === 'Dead' || e.isComposing)
                this.ask(); // an input method needs a field of the browser's
            else if ((e.ctrlKey || e.metaKey) && e.key === 'a')
                this.all = true;
            else if (e.ctrlKey && !e.altKey || e.metaKey)
                return false;
            else if (e.key in moves) {
                this.caret = Math.min(n, Math.max(0, moves[e.key]));
                this.all = false;
            } else if (e.key === 'Escape') {
                if (this.text)
                    this.edit(0, n, '');
                this.box.blur();
            } else if (e.key === 'Enter')
                nextHit(1);
            else if (e.key === 'Backspace')
                this.edit(this.caret - 1, this.caret, '');
            else if (e.key === 'Delete')
                this.edit(this.caret, this.caret + 1, '');
            else if ([...e.key].length === 1)
                this.edit(this.caret, this.caret, e.key);
            else
                return false;
            this.draw();
            return true;
        },
        ask() {
            const t = window.prompt('Search frames (regular expression)', this.text);
            if (t !== null) {
                this.all = true;
                this.edit(0, 0, t);
            }
        },
        take() {
            this.all = true;
            this.box.focus({preventScroll: true});
            this.draw();
        }
    };
}
